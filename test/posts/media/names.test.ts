import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { safeName } from '../../../src/posts/media/folder.js';

const DIGEST = 'ab12cd34ef567890';

test('a name keeps what is harmless and gets the ending of what the image is', () => {
  const names: readonly [suggested: string, expected: string][] = [
    ['photo.jpg', 'photo_ab12cd34.jpg'],
    ['IMG_2041-2.HEIC', 'IMG_2041-2_ab12cd34.jpg'],
    ['Näkymä mäeltä.jpeg', 'Nakyma_maelta_ab12cd34.jpg'],
    ['no ending', 'no_ending_ab12cd34.jpg'],
    ['two.dots.png', 'two_dots_ab12cd34.jpg'],
    ['日本.jpg', 'image_ab12cd34.jpg'],
    ['', 'image_ab12cd34.jpg'],
    ['.jpg', 'image_ab12cd34.jpg'],
    ['..', 'image_ab12cd34.jpg'],
    ['../../etc/passwd', 'passwd_ab12cd34.jpg'],
    ['C:\\Users\\me\\secret.png', 'secret_ab12cd34.jpg'],
    ['a\0b\r\nc.jpg', 'a_b_c_ab12cd34.jpg'],
    ['"><script>.jpg', 'script_ab12cd34.jpg'],
    ['con.jpg/', 'image_ab12cd34.jpg'],
    ['\u202egpj.exe', 'gpj_ab12cd34.jpg'],
    [`${'x'.repeat(300)}.jpg`, `${'x'.repeat(40)}_ab12cd34.jpg`],
    ['ﷺ'.repeat(1000), 'image_ab12cd34.jpg'],
  ];
  for (const [suggested, expected] of names) {
    assert.is(safeName(suggested, DIGEST, 'jpg'), expected, JSON.stringify(suggested));
  }
  assert.is(safeName('x.jpg', DIGEST, 'png'), 'x_ab12cd34.png');
});

test('the longest name fits the field with the longest id', () => {
  const name = safeName('x'.repeat(300), DIGEST, 'jpg');
  assert.ok(`map_data_points/${Number.MAX_SAFE_INTEGER}/${name}`.length <= 100);
});

test.run();
