//! What a list tells of a resource.

use std::time::SystemTime;

use crate::abi;
use crate::time::stamp;
use crate::wire::Encoder;

/// One resource of a list. Only the URI is required.
///
/// ```
/// use wasmres::{Audience, Entry};
///
/// let entry = Entry::new("notes://by/ada/1").title("Engines").mime("text/plain").audience(Audience::User);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Entry {
    pub(crate) uri: String,
    name: String,
    title: String,
    description: String,
    pub(crate) mime: String,
    size: u64,
    priority: Option<f64>,
    last_modified: String,
    audience: u32,
    icons: Vec<Icon>,
    meta: String,
}

impl Entry {
    /// Makes an entry with nothing but its URI.
    #[must_use]
    pub fn new(uri: impl Into<String>) -> Self {
        Entry { uri: uri.into(), ..Entry::default() }
    }

    /// Sets the short name; without it the last part of the URI serves.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the name people see.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Says in a sentence or two what is to be found here, for people and models.
    #[must_use]
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets the type of the contents.
    #[must_use]
    pub fn mime(mut self, mime: impl Into<String>) -> Self {
        self.mime = mime.into();
        self
    }

    /// Tells the size in bytes.
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        self.size = bytes;
        self
    }

    /// Says how much this matters, from 0 for optional to 1 for required.
    #[must_use]
    pub fn priority(mut self, priority: f64) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Tells when the resource changed last.
    #[must_use]
    pub fn last_modified(mut self, time: SystemTime) -> Self {
        self.last_modified = stamp(time);
        self
    }

    /// Says whom this is meant for. Called twice it is meant for both.
    #[must_use]
    pub fn audience(mut self, audience: Audience) -> Self {
        self.audience |= audience as u32;
        self
    }

    /// Adds an icon.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.icons.push(icon);
        self
    }

    /// Sets the `_meta` of the entry, a JSON object.
    #[must_use]
    pub fn meta(mut self, json: impl Into<String>) -> Self {
        self.meta = json.into();
        self
    }

    /// Adds the fields that resources and templates share. A template's URI is the template, and it has neither size
    /// nor time. Without a name the template itself serves, or the last part of the URI.
    pub(crate) fn encode(&self, message: &mut Encoder, template: bool) {
        let name = match &*self.name {
            "" if template => &self.uri,
            "" => last_part(&self.uri),
            name => name,
        };
        message.text(1, &self.uri);
        message.text(2, name);
        message.text(3, &self.title);
        message.text(4, &self.description);
        message.text(5, &self.mime);
        if !template {
            message.number(6, self.size);
        }
        if let Some(priority) = self.priority {
            message.double(7, priority);
        }
        if !template {
            message.text(8, &self.last_modified);
        }
        message.number(9, self.audience.into());
        for icon in &self.icons {
            message.message(10, |message| icon.encode(message));
        }
        message.text(11, &self.meta);
    }
}

/// Whom a resource is meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Audience {
    /// People.
    User = abi::AUDIENCE_USER,
    /// Models.
    Assistant = abi::AUDIENCE_ASSISTANT,
}

/// A picture a client may show beside a resource.
#[derive(Clone, Debug, Default)]
pub struct Icon {
    source: String,
    mime: String,
    sizes: Vec<String>,
    theme: String,
}

impl Icon {
    /// Makes an icon of where the picture is: a URI that begins with `https:` or `data:image/`.
    #[must_use]
    pub fn new(source: impl Into<String>) -> Self {
        Icon { source: source.into(), ..Icon::default() }
    }

    /// Sets the type of the picture.
    #[must_use]
    pub fn mime(mut self, mime: impl Into<String>) -> Self {
        self.mime = mime.into();
        self
    }

    /// Adds a size the picture has, as in `48x48` or `any`.
    #[must_use]
    pub fn size(mut self, size: impl Into<String>) -> Self {
        self.sizes.push(size.into());
        self
    }

    /// Sets the theme it is for: `light` or `dark`.
    #[must_use]
    pub fn theme(mut self, theme: impl Into<String>) -> Self {
        self.theme = theme.into();
        self
    }

    fn encode(&self, message: &mut Encoder) {
        message.text(1, &self.source);
        message.text(2, &self.mime);
        for size in &self.sizes {
            message.element(3, size.as_bytes());
        }
        message.text(4, &self.theme);
    }
}

/// Gives what follows the last slash of a URI; all of it when that is nothing.
fn last_part(uri: &str) -> &str {
    match uri.rfind('/') {
        Some(at) if at + 1 < uri.len() => &uri[at + 1..],
        _ => uri,
    }
}
