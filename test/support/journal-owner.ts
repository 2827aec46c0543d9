import { openJournal } from '../../src/posts/sqlite-journal.js';
import { newPost } from './journals.js';

// owns the journal that is named, with one post in it, until its input ends
const journal = await openJournal(process.argv[2]!);
await journal.append([newPost(1)]);
process.stdout.write('owned');
process.stdin.on('end', () => void journal.close()).resume();
