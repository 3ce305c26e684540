"""What FastMCP and the official SDK describe resources and completions with."""


class Annotations:
    def __init__(self, audience=None, priority=None, **hints):
        self.audience = audience
        self.priority = priority
        self.hints = hints


class Icon:
    def __init__(self, src, mimeType=None, sizes=None, theme=None, mime_type=None):
        self.src = src
        self.mimeType = self.mime_type = mimeType or mime_type
        self.sizes = sizes
        self.theme = theme


class PromptReference:
    """There are no prompts, so no reference is one."""

    name = ""


class ResourceTemplateReference:
    def __init__(self, uri):
        self.uri = uri


class CompletionArgument:
    def __init__(self, name, value):
        self.name = name
        self.value = value


class CompletionContext:
    def __init__(self, arguments):
        self.arguments = arguments


class Completion:
    def __init__(self, values, total=None, hasMore=None, has_more=None):
        self.values = values
        self.total = total
        self.hasMore = hasMore or has_more


def shown(annotations):
    """Audience and priority, which are all that the host passes on of annotations."""
    if annotations is None:
        return {}
    get = annotations.get if isinstance(annotations, dict) else lambda name: getattr(annotations, name)
    return {"audience": get("audience"), "priority": get("priority")}


def icon_of(icon):
    """An icon as wasmres has it, a dict."""
    if isinstance(icon, dict):
        return {("mime_type" if name == "mimeType" else name): value for name, value in icon.items()}
    return {"src": str(icon.src), "mime_type": icon.mimeType, "sizes": icon.sizes, "theme": icon.theme}
