// The variables of a URI template (RFC 6570).

/** Gives the variables of a template by name: whether each is exploded, as in {/path*}. */
export function variablesOf(template) {
  const variables = new Map();
  for (const [, expression] of template.matchAll(/\{[+#./;?&]?([^}]*)\}/g)) {
    for (const spec of expression.split(",")) {
      const exploded = spec.endsWith("*");
      const [name] = (exploded ? spec.slice(0, -1) : spec).split(":");
      variables.set(name, exploded);
    }
  }
  return variables;
}

/** Makes an object of decoded variables; exploded ones are arrays, also when they have one element. */
export function decodedVariables(pairs, variables) {
  const found = Object.create(null);
  for (let i = 0; i + 1 < pairs.length; i += 2) {
    const name = pairs[i];
    if (!variables?.get(name)) found[name] = pairs[i + 1];
    else (found[name] ??= []).push(pairs[i + 1]);
  }
  return found;
}
