//! stub
pub fn version() -> std::io::Result<String> {
    unimplemented!()
}
