/**
 * The stored tree contradicts itself, the log, or a signed checkpoint. The tree is not continued and no checkpoint is served
 * until an operator has repaired it: `tracebook audit verify` reports what is wrong.
 */
export class TreeDiffers extends Error {
  override readonly name = 'TreeDiffers'
}
