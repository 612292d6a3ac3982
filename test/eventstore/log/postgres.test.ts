import { contract } from './contract.ts'
import { postgres } from './support/postgres.ts'

contract(postgres)
