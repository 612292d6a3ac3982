import { z } from 'zod'
import { type RequiredName, type TextName, isRequired, shapeOf, textNames } from '../contract/trace-texts.ts'

/** The texts of a trace (`../contract/trace-texts.ts`) as events hold them: of any length, for they may be older than a cap. */
export const storedTexts = shapeOf(textNames, () => z.string())

type SnakeCase<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Tail>}`
  : Name

/** The columns of the texts. They hold JSON string literals: PostgreSQL text cannot hold NUL or lone surrogates. */
export const columnOf = Object.fromEntries(
  textNames.map((name) => [name, name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]),
) as { readonly [Name in TextName]: SnakeCase<Name> }

/** The columns with their types. */
export const textColumns = Object.fromEntries(
  textNames.map((name) => [columnOf[name], isRequired(name) ? 'json not null' : 'json']),
) as { readonly [Name in TextName as SnakeCase<Name>]: Name extends RequiredName ? 'json not null' : 'json' }
