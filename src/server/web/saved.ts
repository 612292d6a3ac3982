import { z } from 'zod'

/**
 * The parameter `?saved=` in the redirect after a form was taken: which of the page's sentences it says. It is nothing that was asked for, so any
 * other value says nothing.
 */
export const savedParameter = <Key extends string>(sentences: Readonly<Record<Key, string>>) =>
  z
    .enum(Object.keys(sentences) as Key[])
    .optional()
    .catch(undefined)
