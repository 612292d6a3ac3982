import { UsageError } from './exit.ts'

// Explanations of errors with a file that the user has named. Any other error is thrown unchanged.

/** @throws UsageError when the file does not exist, or is a folder */
export const explainMissingFile =
  (file: string) =>
  (error: unknown): never => {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EISDIR') throw new UsageError(`${file} is a folder.`, { cause: error })
    if (code === 'ENOENT') throw new UsageError(`There is no file ${file}.`, { cause: error })
    throw error
  }

/** @throws UsageError when the file cannot be written because of its path, Error when there is no space for it */
export const explainOutput =
  (file: string) =>
  (error: unknown): never => {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EISDIR') throw new UsageError(`${file} is a folder: name a file in it.`, { cause: error })
    if (code === 'ENOENT')
      throw new UsageError(`${file} cannot be written: its folder does not exist.`, { cause: error })
    if (code === 'ENOSPC') throw new Error(`There is no space left for ${file}.`, { cause: error })
    throw error
  }
