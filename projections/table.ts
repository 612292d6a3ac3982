import {
  type JoinedTexts,
  bools,
  float8s,
  int4s,
  int8s,
  joinedTexts,
  jsons,
  texts,
  uuids,
} from '../src/postgres/arrays.ts'

/** Binary arrays by the type of their elements. */
const arrays = {
  bool: bools,
  bytea: joinedTexts,
  float8: float8s,
  int4: int4s,
  int8: int8s,
  json: jsons,
  text: texts,
  uuid: uuids,
}

type Type = keyof typeof arrays

/** The columns of a table in their order: of each its type and what SQL adds to that, like `uuid not null`. */
type Columns = { readonly [column: string]: Type | `${Type} ${string}` }

type TypeOf<Sql> = Sql extends `${infer First} ${string}` ? First : Sql

type Values = {
  bool: boolean
  bytea: Buffer
  float8: number
  int4: number
  int8: bigint
  json: string
  text: string
  uuid: string
}
type ValueOf<Sql> = TypeOf<Sql> extends keyof Values ? Values[TypeOf<Sql>] : never

type IsRequired<Sql> = Sql extends `${string} not null${string}` | `${string} primary key${string}` ? true : false

/** A row of a table as queries give it: int8 as bigint, json as its text. */
export type RowOf<T extends { readonly columns: Columns }> = {
  -readonly [Column in keyof T['columns']]:
    ValueOf<T['columns'][Column]> | (IsRequired<T['columns'][Column]> extends true ? never : null)
}

type Written<Sql> =
  (TypeOf<Sql> extends 'int8' ? bigint | number : TypeOf<Sql> extends 'bytea' ? JoinedTexts : ValueOf<Sql>) | undefined

/** What a statement has in each column that it writes, or finds rows by: undefined for null. */
export type Cells<Of extends Columns, Row> = { readonly [Column in keyof Of]?: (row: Row) => Written<Of[Column]> }

/** Columns of many rows as the parameters of one statement, an array each. */
type Unnested<Row> = {
  /** The names, separated by commas. */
  readonly columns: string
  /** How many there are, and so how many parameters. */
  readonly count: number
  /** Gives all rows as `alias (columns)`. */
  as(alias: string): string
  /** Inserts all rows. */
  readonly insert: string
  readonly values: (rows: readonly Row[]) => unknown[]
}

type Table<Of extends Columns> = {
  readonly columns: Of
  /** The statement that makes it. */
  readonly create: string
  /**
   * `nulls` names columns of which the statement itself takes a null for something else, though the table holds none. The values
   * of any other such column must be there. @throws MissingValue
   */
  unnest<Row>(cells: Cells<Of, Row>, nulls?: readonly (keyof Of)[]): Unnested<Row>
  /** A value for a column. @throws MissingValue for a null where the table holds none */
  assertHolds(column: keyof Of, value: unknown): void
}

type Options = {
  /** A constraint of the table, like a primary key of several columns. */
  readonly constraint?: string
  /** Storage parameters. */
  readonly storage?: string
}

/** PostgreSQL would refuse the row as well, but its log would quote all of it. */
export class MissingValue extends Error {
  override readonly name = 'MissingValue'
}

const typeOf = (sql: string) => sql.split(' ', 1)[0] as Type

const arrayOf = (sql: string, values: readonly unknown[]): Buffer =>
  (arrays[typeOf(sql)] as (values: readonly unknown[]) => Buffer)(values)

/** A table by its one list of columns: the statement that makes it, the type of its rows, and how rows are written. */
export const tableOf = <const Of extends Columns>(
  name: string,
  columns: Of,
  { constraint, storage }: Options = {},
): Table<Of> => {
  const parts = Object.entries(columns).map(([column, sql]) => `${column} ${sql}`)
  const body = [...parts, ...(constraint === undefined ? [] : [constraint])].join(', ')
  const create = `create table ${name} (${body})${storage === undefined ? '' : ` with (${storage})`};`

  const isRequired = (column: keyof Of) => /not null|primary key/.test(columns[column]!)
  const missing = (column: keyof Of) => new MissingValue(`${name}.${String(column)} has no value`)
  const assertHolds = (column: keyof Of, value: unknown) => {
    if ((value === undefined || value === null) && isRequired(column)) throw missing(column)
  }

  const unnest = <Row>(cells: Cells<Of, Row>, nulls: readonly (keyof Of)[] = []): Unnested<Row> => {
    const written = Object.entries(cells) as [keyof Of & string, (row: Row) => unknown][]
    const names = written.map(([column]) => column).join(', ')
    const types = written.map(([column], i) => `$${i + 1}::${typeOf(columns[column]!)}[]`).join(', ')
    const required = new Set(
      written.map(([column]) => column).filter((column) => isRequired(column) && !nulls.includes(column)),
    )
    return {
      columns: names,
      count: written.length,
      as: (alias) => `unnest(${types}) ${alias} (${names})`,
      insert: `insert into ${name} (${names}) select * from unnest(${types})`,
      values: (rows) =>
        written.map(([column, cell]) => {
          const values = rows.map(cell)
          if (required.has(column) && (values.includes(undefined) || values.includes(null))) throw missing(column)
          return arrayOf(columns[column]!, values)
        }),
    }
  }

  return { columns, create, unnest, assertHolds }
}
