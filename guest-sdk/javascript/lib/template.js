// The variables of a URI template (RFC 6570).

/** Gives the variables of a template by name: whether each is exploded, as in {/path*}. */
export function variablesOf(template) {
  const variables = Object.create(null);
  for (const [, expression] of template.matchAll(/\{[+#./;?&]?([^}]*)\}/g)) {
    for (const spec of expression.split(",")) {
      const exploded = spec.endsWith("*");
      const [name] = (exploded ? spec.slice(0, -1) : spec).split(":");
      variables[name] = exploded;
    }
  }
  return variables;
}
