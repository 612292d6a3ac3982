import { type Logger, type LoggerOptions, pino } from 'pino'

/** The methods of a logger that the parts of the service use. Each part picks its own, so that tests can pass simple objects. */
export type MinimalLogger = {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

/** For a person at a terminal: the time of day, the level, the message, then the details. */
const forPeople = async () => {
  const { default: pretty } = await import('pino-pretty')
  return pretty({ translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname', sync: true })
}

/**
 * Structured logs on standard output: JSON lines, or readable lines where that is a terminal. Tokens, cookies and codes
 * are never in them.
 */
export const newLogger = async (level: string, isTerminal = process.stdout.isTTY): Promise<Logger> => {
  const options: LoggerOptions = {
    level,
    redact: {
      // Not `*.code`: errors have their codes there.
      paths: [
        'req.headers.authorization',
        'req.headers.cookie',
        '*.token',
        '*.exchangeCode',
        'query.code',
        'body.code',
      ],
      censor: '[redacted]',
    },
    serializers: {
      err: pino.stdSerializers.errWithCause,
      req: (request: { method?: string; id?: unknown }) => ({ method: request.method, id: request.id }),
    },
  }
  return isTerminal ? pino(options, await forPeople()) : pino(options)
}
