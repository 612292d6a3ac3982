/**
 * What is stored of the tree contradicts itself, the log, or a checkpoint that was signed. The tree is not continued and no
 * checkpoint is served until an operator has looked at it: `tracebook audit verify` names what is wrong.
 */
export class TreeDiffers extends Error {
  override readonly name = 'TreeDiffers'
}
