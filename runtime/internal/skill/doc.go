// Package skill finds the skills of a source of resources: directories with a file SKILL.md, as the extension
// io.modelcontextprotocol/skills of MCP has them. It reads all files of a skill to say how long they are and what their digests
// are, so a source need not say. What a client may not see of the source is not in its skills.
package skill
