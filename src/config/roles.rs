//! `[roles.NAME]`: a section for each role.
//!
//! Must not know: what a role's program is started for.

use std::collections::BTreeMap;

use chrono::TimeDelta;

use super::keys::{ROLE_KEYS, ROLES};
use super::values::{Count, Values};
use super::written::{list, quoted};
use super::{RoleSettings, Setting};
use crate::text::duration;

/// How long a role's program may run where nothing is written.
const TIMEOUT: TimeDelta = TimeDelta::hours(4);

/// All roles that are written.
pub(super) fn read(values: &mut Values<'_>) -> BTreeMap<String, RoleSettings> {
    let roles = values.role_names().into_iter();
    roles.map(|role| (role.clone(), one(&role, values))).collect()
}

fn one(role: &str, values: &mut Values<'_>) -> RoleSettings {
    let path = |name: &str| format!("{ROLES}.{role}.{name}");
    RoleSettings {
        command: values.command(&path("command")).unwrap_or_default(),
        max: values.count(&path("max")).and_then(Count::bound).map(|max| max as usize),
        timeout: values.duration(&path("timeout")).unwrap_or(TIMEOUT),
    }
}

/// Their rows of the listing.
pub(super) fn settings(roles: &BTreeMap<String, RoleSettings>, values: &Values<'_>) -> Vec<Setting> {
    let row = |role: &str, settings: &RoleSettings, name: &str| {
        let value = match name {
            "command" => list(&settings.command),
            "max" => settings.max.map_or_else(|| quoted("unlimited"), |max| max.to_string()),
            _ => quoted(&duration::text(settings.timeout)),
        };
        let key = format!("{ROLES}.{role}.{name}");
        Setting { source: values.source(&key), key, value }
    };
    roles.iter().flat_map(|(role, settings)| ROLE_KEYS.iter().map(move |key| row(role, settings, key.name))).collect()
}
