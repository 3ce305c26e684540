"""FastMCP's names for a provider, so that a server of resources needs another import and nothing else. The names of the
official SDK for Python are here, too."""

from ..failure import Denied as AuthorizationError
from ..failure import Invalid as ValidationError
from ..failure import Failure
from ..failure import NotFound as NotFoundError
from .context import Context, CurrentContext, get_context
from .resources import (
    BinaryResource,
    DirectoryResource,
    FileResource,
    FunctionResource,
    HttpResource,
    Resource,
    ResourceContent,
    ResourceResult,
    TextResource,
    resource,
)
from .security import ResourceSecurity, safe_join
from .server import FastMCP, ResourcesAsTools
from .types import (
    Annotations,
    Completion,
    CompletionArgument,
    CompletionContext,
    Icon,
    PromptReference,
    ResourceTemplateReference,
)

MCPServer = FastMCP
ReadResourceContents = ResourceContent
ResourceError = FastMCPError = Failure
ResourceNotFoundError = NotFoundError
ResourceResponse = ResourceResult
