//! News for who follows resources.

use crate::wire::Encoder;
use crate::{abi, host, Result};

/// Tells whoever follows a resource that it has changed. Any handler may do so.
pub fn notify_updated(uri: &str) -> Result<()> {
    let mut request = Encoder::default();
    request.text(1, uri);
    host::ask(abi::SERVICE_NOTIFY_UPDATED, request.as_bytes())?;
    Ok(())
}

/// Tells clients that the list of resources has changed.
pub fn notify_list_changed() -> Result<()> {
    host::ask(abi::SERVICE_NOTIFY_LIST, &[])?;
    Ok(())
}
