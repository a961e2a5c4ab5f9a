//! stub
use crate::domain::facts::Dirty;
use crate::ports::*;
use std::path::Path;
pub struct GitWorktree;
impl GitWorktree {
    pub fn new(_: &Path, _: Option<&Path>, _: &Path) -> Self {
        Self
    }
}
impl MainWorktree for GitWorktree {
    fn dirty(&self) -> Dirty {
        unimplemented!()
    }
    fn obstacle(&self) -> Option<Obstacle> {
        None
    }
    fn user_name(&self) -> Option<String> {
        None
    }
}
