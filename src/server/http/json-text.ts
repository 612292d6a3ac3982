/** Answers are joined from stored JSON text, so that clients get exactly what was stored. */

declare const value: unique symbol

/** JSON text of a value of this type. */
export type JsonText<Value> = string & { readonly [value]: Value }

/** JSON text in parts, for a value that may be large. */
export type JsonTexts<Value> = readonly string[] & { readonly [value]: Value }

/** The JSON text of each member. An optional member is absent if its text is null or undefined. */
export type MemberTexts<Value> = {
  readonly [Name in keyof Value]-?: undefined extends Value[Name] ? string | null | undefined : string
}

/** The JSON text of each member; that of a large member may be in parts. */
type MemberParts<Value> = {
  readonly [Name in keyof Value]-?: MemberTexts<Value>[Name] | readonly string[]
}

/** The JSON text of an object. All members of the type have to be given, so that the compiler finds where a new one is missing. */
export const jsonText = <Value extends object>(members: MemberTexts<NoInfer<Value>>): JsonText<Value> => {
  const texts = members as Readonly<Record<string, string | null | undefined>>
  let text = ''
  for (const key in texts) {
    const member = texts[key]
    if (member !== null && member !== undefined) text += `${text ? ',' : ''}"${key}":${member}`
  }
  return `{${text}}` as JsonText<Value>
}

/** The JSON text of an object in parts; `arrayTexts` makes the parts of a large member. */
export const jsonTexts = <Value extends object>(members: MemberParts<NoInfer<Value>>): JsonTexts<Value> => {
  const given = members as Readonly<Record<string, string | readonly string[] | null | undefined>>
  const texts: string[] = []
  for (const key in given) {
    const member = given[key]
    if (member === null || member === undefined) continue
    const name = `${texts.length === 0 ? '{' : ','}"${key}":`
    if (typeof member === 'string') texts.push(name + member)
    else {
      texts.push(name)
      for (const text of member) texts.push(text)
    }
  }
  texts.push(texts.length === 0 ? '{}' : '}')
  return texts as readonly string[] as JsonTexts<Value>
}

/** The text after the items of a list that is the first member of an object and is sent item by item: the other members. */
export const endOfList = <Value extends object, List extends keyof Value>(
  others: MemberTexts<Omit<Value, List>>,
): string => {
  const text = jsonText<Omit<Value, List>>(others)
  return text === '{}' ? ']}' : `],${text.slice(1)}`
}
