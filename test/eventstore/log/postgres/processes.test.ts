import { contract } from '../contract.ts'
import { concurrency } from '../contract/concurrency.ts'
import { postgres } from '../support/postgres.ts'

contract(postgres, { concurrency })
