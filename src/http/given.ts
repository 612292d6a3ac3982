/**
 * The named members that a body has of its own and that are set: bodies are checked, never replaced, so whatever else
 * stands in them is nobody's business.
 */
export const given = <Body extends object, Name extends keyof Body>(
  body: Body,
  names: readonly Name[],
): { [N in Name]?: Exclude<Body[N], undefined> } => {
  const members: { [N in Name]?: Exclude<Body[N], undefined> } = {}
  for (const name of names) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined
    if (value !== undefined) members[name] = value as Exclude<Body[Name], undefined>
  }
  return members
}
