/** Answers are joined from stored JSON text, so that what is stored comes out as it went in. */

declare const value: unique symbol

/** JSON text of a value of this type. */
export type JsonText<Value> = string & { readonly [value]: Value }

/** The same in parts, for what may be large. */
export type JsonTexts<Value> = readonly string[] & { readonly [value]: Value }

/** The JSON text of each member. One that may be absent is where its text is null or undefined. */
export type MemberTexts<Value> = {
  readonly [Name in keyof Value]-?: undefined extends Value[Name] ? string | null | undefined : string
}

/** The JSON text of an object. Each member has to be named here: a new one of the contract is missed by the compiler. */
export const jsonText = <Value extends object>(members: MemberTexts<NoInfer<Value>>): JsonText<Value> => {
  const texts = members as Readonly<Record<string, string | null | undefined>>
  let text = ''
  for (const key in texts) {
    const member = texts[key]
    if (member !== null && member !== undefined) text += `${text ? ',' : ''}"${key}":${member}`
  }
  return `{${text}}` as JsonText<Value>
}
