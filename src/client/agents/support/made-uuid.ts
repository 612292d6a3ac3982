import { hash } from 'node:crypto'

const inGroups = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/** A UUID of version 8 that is made of texts: the same for the same ones. */
export const madeUuid = (...texts: readonly string[]): string => {
  const hex = hash('sha256', JSON.stringify(texts), 'hex')
  const variant = '89ab'[Number.parseInt(hex[16]!, 16) % 4]!
  return inGroups(`${hex.slice(0, 12)}8${hex.slice(13, 16)}${variant}${hex.slice(17, 32)}`)
}

export const isUuid = (id: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)
