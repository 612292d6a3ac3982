import { type DecideNamespace, assertAdmin, existing } from './decide.ts'

/** Gives a namespace another avatar, as an admin; its bytes are stored before. @throws Rejected not_found, forbidden */
export const changeAvatar =
  (actorId: string, storageId: string): DecideNamespace =>
  (before) => {
    const state = existing(before)
    assertAdmin(state, actorId)
    return state.avatarStorageId === storageId ? [] : [{ type: 'AvatarChanged', data: { storageId } }]
  }
