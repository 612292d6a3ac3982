import { z } from 'zod'

/**
 * A backup: a file of lines. The first one is the header, as JSON. For each table comes a line of JSON with its name and
 * columns, then its rows as `COPY … TO STDOUT` writes them, and a line `\.`. At the end is a trailer, as JSON, with the number of
 * rows and the SHA-256 of all bytes before it.
 */
export const VERSION = 1

export const Header = z.object({
  tracebookBackup: z.int(),
  /** The version of Tracebook that wrote it. */
  version: z.string(),
  /** The last migration of its tables. */
  migration: z.string(),
  /** When it was written, in milliseconds. */
  at: z.int(),
  /** The last position of the log in the backup. */
  through: z.string(),
})
export type Header = z.infer<typeof Header>

export const TableLine = z.object({ table: z.string(), columns: z.array(z.string()).min(1) })

export const Trailer = z.object({ rows: z.int().min(0), sha256: z.string() })
export type Trailer = z.infer<typeof Trailer>

export const END_OF_ROWS = Buffer.from('\\.\n')

export const jsonLine = (value: object): Buffer => Buffer.from(`${JSON.stringify(value)}\n`)
