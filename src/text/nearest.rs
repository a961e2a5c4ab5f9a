//! The nearest of several names, for "did you mean".
//!
//! Must not know: what the names stand for.

/// The candidate that is nearest to what was written, if it is near enough to be meant.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written = plain(written);
    let allowed = (written.len() / 3).max(2);
    candidates
        .into_iter()
        .map(|candidate| (distance(&written, &plain(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Case and the choice of `-` or `_` are never what somebody meant to say.
fn plain(name: &str) -> Vec<char> {
    name.to_lowercase().replace('-', "_").chars().collect()
}

/// Edits from one to the other: insert, delete, replace, or swap two neighbours.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_enough_is_suggested_and_nothing_else() {
        let names = ["max_items", "max_per_hour", "max_attempts", "mode", "root"];
        let rows = [
            ("max_item", Some("max_items")),
            ("max-items", Some("max_items")),
            ("MaxItems", Some("max_items")),
            ("max_itmes", Some("max_items")),
            ("max_attempt", Some("max_attempts")),
            ("mdoe", Some("mode")),
            ("moode", Some("mode")),
            ("x", None),
            ("colour", None),
            ("", None),
        ];
        for (written, expected) in rows {
            assert_eq!(nearest(written, names), expected, "{written}");
        }
    }
}
