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
} from '../eventstore/postgres/arrays.ts'

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

/** The columns of a table in their order, each with its SQL type and constraints, like `uuid not null`. */
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

/** A row of a table as queries return it: int8 as bigint, json as text. */
export type RowOf<T extends { readonly columns: Columns }> = {
  -readonly [Column in keyof T['columns']]:
    ValueOf<T['columns'][Column]> | (IsRequired<T['columns'][Column]> extends true ? never : null)
}

type Written<Sql> =
  (TypeOf<Sql> extends 'int8' ? bigint | number : TypeOf<Sql> extends 'bytea' ? JoinedTexts : ValueOf<Sql>) | undefined

/** The values of the columns that a statement writes, or finds rows by; undefined for null. */
export type Cells<Of extends Columns, Row> = { readonly [Column in keyof Of]?: (row: Row) => Written<Of[Column]> }

/** Many rows as parameters of one statement: an array for each column. */
type Unnested<Row> = {
  /** The names of the columns, separated by commas. */
  readonly columns: string
  /** The number of columns, which is that of the parameters. */
  readonly count: number
  /** SQL for all rows as `alias (columns)`. */
  as(alias: string): string
  /** SQL that inserts all rows. */
  readonly insert: string
  readonly values: (rows: readonly Row[]) => unknown[]
}

type Table<Of extends Columns> = {
  readonly columns: Of
  /** The `create` statement. */
  readonly create: string
  /**
   * `nulls` names columns that may be null in the parameters, though not in the table: the statement replaces the null. All other
   * columns that are not null in the table need a value. @throws MissingValue
   */
  unnest<Row>(cells: Cells<Of, Row>, nulls?: readonly (keyof Of)[]): Unnested<Row>
  /** Checks a value for a column. @throws MissingValue for a null in a column that is not null */
  assertHolds(column: keyof Of, value: unknown): void
}

type Options = {
  /** A constraint of the table, like a primary key of several columns. */
  readonly constraint?: string
  /** Storage parameters. */
  readonly storage?: string
}

/** A null in a column that is not null. PostgreSQL would refuse the row as well, but its log would quote the whole row. */
class MissingValue extends Error {
  override readonly name = 'MissingValue'
}

const typeOf = (sql: string) => sql.split(' ', 1)[0] as Type

const arrayOf = (sql: string, values: readonly unknown[]): Buffer =>
  (arrays[typeOf(sql)] as (values: readonly unknown[]) => Buffer)(values)

/** A table by its list of columns, from which the `create` statement, the type of rows, and statements that write rows are derived. */
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
    // In the list of a select, not behind "from", where PostgreSQL would store each array's rows first: that takes twice the time.
    const rows = `select ${written
      .map(([column], i) => `unnest($${i + 1}::${typeOf(columns[column]!)}[]) as ${column}`)
      .join(', ')}`
    const required = new Set(
      written.map(([column]) => column).filter((column) => isRequired(column) && !nulls.includes(column)),
    )
    return {
      columns: names,
      count: written.length,
      as: (alias) => `(${rows}) ${alias}`,
      insert: `insert into ${name} (${names}) ${rows}`,
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
