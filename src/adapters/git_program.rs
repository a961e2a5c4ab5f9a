//! stub
pub fn version() -> std::io::Result<String> {
    Ok("git ?".into())
}
