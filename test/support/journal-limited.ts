import { openJournal } from '../../src/live/journal/open.js';
import { newPost, numbers } from './journals.js';

// appends to the journal that is named until that fails, and prints what was acknowledged
const journal = await openJournal(process.argv[2]!);
let reason = '';
for (let id = 1; reason === ''; id++) {
  await journal.append([newPost(id)]).catch((error: Error) => {
    reason = error.message;
  });
}
process.stdout.write(JSON.stringify({ acknowledged: numbers(journal.replay()), reason }));
await journal.close();
