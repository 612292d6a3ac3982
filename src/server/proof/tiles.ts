import { TILE_WIDTH } from './tree.ts'

/** Tiles of the tree's hashes and their paths (C2SP `tlog-tiles`). */

/** Hashes `index * 256` to before `index * 256 + width` of a level. A width of 256 makes it full. */
type Tile = { readonly level: number; readonly index: number; readonly width: number }

const MAX_LEVEL = 63

/** A tile's index in groups of three digits, all but the last marked with an x: 1234067 is `x001/x234/067`. */
export const tileIndexPath = (index: number): string => {
  const digits = String(index)
  const groups = digits.padStart(3 * Math.ceil(digits.length / 3), '0').match(/\d{3}/g)!
  return groups.map((group, i) => (i < groups.length - 1 ? `x${group}` : group)).join('/')
}

/** The path of a tile after `…/tile/<level>/`. */
const pathOf = ({ index, width }: Tile): string => `${tileIndexPath(index)}${width < TILE_WIDTH ? `.p/${width}` : ''}`

const PATH = /^((?:x\d{3}\/){0,5}\d{3})(?:\.p\/(\d{1,3}))?$/

/** The tile of `…/tile/<level>/<path>`; undefined for a path that is not in canonical form. */
export const parseTile = (level: string, path: string): Tile | undefined => {
  const [, digits, partial] = PATH.exec(path) ?? []
  if (digits === undefined || !/^(0|[1-9]\d?)$/.test(level) || Number(level) > MAX_LEVEL) return undefined
  const tile = { level: Number(level), index: Number(digits.replace(/\D/g, '')), width: Number(partial ?? TILE_WIDTH) }
  const isKnownWidth = partial === undefined || (tile.width > 0 && tile.width < TILE_WIDTH)
  return isKnownWidth && Number.isSafeInteger(tile.index) && pathOf(tile) === path ? tile : undefined
}

/** How many hashes a tile has in a tree of this size: 0 beyond its end, 256 at most. */
export const tileWidth = (level: number, index: number, size: number): number =>
  Math.min(TILE_WIDTH, Math.max(0, Math.floor(size / TILE_WIDTH ** level) - index * TILE_WIDTH))
