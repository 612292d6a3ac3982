/**
 * The named members of a body that are own members and not undefined. Validation does not remove others, so it may have them.
 */
export const pickDefined = <Body extends object, Name extends keyof Body>(
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
