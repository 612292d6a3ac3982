import { UsageError } from './exit.ts'

/** Says of an error whether it is that the file which the user has named is not there. @throws UsageError, any other error as it is */
export const explainMissingFile =
  (file: string) =>
  (error: unknown): never => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new UsageError(`There is no file ${file}.`, { cause: error })
  }
