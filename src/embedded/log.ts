/** The part of a pino logger that is needed here: details first, then the message. */
export type Log = {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}
