import { UsageError } from '../../cli/exit.ts'

/** A file that cannot be written where the user wants it. @throws UsageError, any other error as it is */
export const explainOutput =
  (output: string) =>
  (error: unknown): never => {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EISDIR') throw new UsageError(`${output} is a folder: name a file in it`, { cause: error })
    if (code === 'ENOENT')
      throw new UsageError(`${output} cannot be written: there is no such folder`, { cause: error })
    throw error
  }
