//! Answers and failures as HTTP.
//!
//! Must not know: what was asked.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use crate::api::failure::Failure;

/// What came of a request.
pub(super) fn answer(result: Result<Value, Failure>) -> Response {
    match result {
        Ok(value) => Json(value).into_response(),
        Err(failure) => refusal(failure.kind.http_status(), failure),
    }
}

/// A request that could not be, or was not, carried out.
pub(super) fn refusal(status: u16, failure: Failure) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, Json(failure)).into_response()
}
