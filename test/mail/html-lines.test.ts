import { describe, expect, it } from 'vitest';
import { htmlToLines } from '../../src/mail/html-lines.ts';
import { cpuSeconds } from '../support/cpu-time.ts';

describe('htmlToLines', () => {
  it.each<[string, string, string[]]>([
    [
      'cells of a row',
      '<table><tr><td>First Name</td><td>Ana</td></tr><tr><td>Last Name</td><td>O&#39;Neil</td></tr></table>',
      ['First Name\tAna', "Last Name\tO'Neil"],
    ],
    [
      'an empty value cell',
      '<table><tr><td>Phone</td><td></td></tr><tr><td>Email</td><td>&nbsp;</td></tr></table>',
      ['Phone\t', 'Email\t'],
    ],
    [
      'a single column with an empty row',
      '<table><tr><td>Phone</td></tr><tr><td>&nbsp;</td></tr><tr><td>Email</td></tr></table>',
      ['Phone', '\t', 'Email'],
    ],
    [
      'layout cells in front',
      '<table><tr><td width=20></td><td>Name</td><td>Ana</td></tr></table>',
      ['Name\tAna'],
    ],
    ['breaks', 'Name: Ana<br>Phone: 212<br/>Email: x', ['Name: Ana', 'Phone: 212', 'Email: x']],
    ['marks without width', 'Email: ana@&#8203;x.example, Lo&shy;pez', ['Email: ana@x.example, Lopez']],
    ['two breaks as a blank line', 'a<br><br>b', ['a', '', 'b']],
    [
      'bold labels with and without colon',
      '<p><b>Name:</b> <span>Ana</span></p><p><strong>Phone</strong> 212</p>',
      ['Name: Ana', '', 'Phone\t212'],
    ],
    ['a bold label above its value', '<div><strong>Name</strong></div><div>Ana</div>', ['Name', 'Ana']],
    ['bold text that is no label', '<p><b>Hello</b> Ana</p>', ['Hello Ana']],
    [
      'definition lists',
      '<dl><dt>Name</dt><dd>Ana</dd><dt>Phone:</dt><dd>212</dd><dt>Email</dt><dd></dd></dl>',
      ['Name\tAna', 'Phone: 212', 'Email\t'],
    ],
    [
      'lists',
      '<ul><li>Name: Ana</li><li><strong>Phone</strong> – 212</li></ul>',
      ['Name: Ana', 'Phone\t– 212'],
    ],
    ['paragraphs', '<p>a</p><p>b</p>', ['a', '', 'b']],
    ['white space', '<p>  a \n\n b\u00a0 c </p>', ['a b c']],
    ['preformatted lines', '<pre>Name: Ana\nPhone: 212</pre>', ['Name: Ana', 'Phone: 212']],
    [
      'no style, script or title',
      '<html><head><title>t</title><style>p{}</style></head><body><script>x</script>a</body></html>',
      ['a'],
    ],
    [
      'no hidden preview',
      '<div style="DISPLAY : none">Name: Bo</div><p hidden>c</p><span style="visibility:hidden"><br>d</span>a',
      ['a'],
    ],
    ['hidden text when there is no other', '<div style="display:none">Name: Bo</div>', ['Name: Bo']],
    [
      'nested layout tables',
      '<table><tr><td><table><tr><td>Name</td><td>Ana</td></tr><tr><td>Phone</td><td>212</td></tr></table></td><td><p>Side</p><p>bar</p></td></tr></table>',
      ['Name\tAna', 'Phone\t212', '', 'Side', '', 'bar'],
    ],
    [
      'one small table a field',
      '<table><tr><td><b>Name</b></td></tr><tr><td>Ana</td></tr></table><table><tr><td><b>Phone</b></td></tr><tr><td>212</td></tr></table>',
      ['Name', 'Ana', '', 'Phone', '212'],
    ],
    [
      'a label beside a value of several lines',
      '<table><tr><td>Message</td><td>one<br>two</td></tr></table>',
      ['Message\tone two'],
    ],
    [
      'parallel columns',
      '<table><tr><td>Name<br>Phone</td><td>Ana<br>212</td></tr></table>',
      ['Name\tAna', 'Phone\t212'],
    ],
    [
      'a mail link whose text hides the address',
      'Email: <a href="mailto:ana%2Bgym@x.example?subject=Hi">Write to Ana</a>',
      ['Email: Write to Ana ana+gym@x.example'],
    ],
    [
      'a phone link whose text hides the number',
      'Phone: <a href="tel:+12125550147">Call</a>',
      ['Phone: Call +12125550147'],
    ],
    [
      'links that show what they link to',
      '<a href="mailto:ana@x.example">ana@x.example</a> <a href="tel:+12125550147">(212) 555-0147</a>',
      ['ana@x.example (212) 555-0147'],
    ],
    [
      'an address in angle brackets that nobody escaped',
      '<p>Email: Ana <ana@x.example></p>',
      ['Email: Ana <ana@x.example>'],
    ],
    ['unclosed tags', '<table><tr><td>Name<td>Ana<tr><td>Phone<td>212', ['Name\tAna', 'Phone\t212']],
    ['cells without a row', '<td>Name</td><td>Ana</td>', ['Name', 'Ana']],
    ['nothing', '', []],
  ])('renders %s', (_, html, lines) => {
    expect(htmlToLines(html)).toEqual(lines);
  });

  it.each([
    ['20,000 nested divs', `Name: Ana<br>${'<div>'.repeat(20_000)}x${'</div>'.repeat(20_000)}`],
    ['20,000 nested tables', `Name: Ana<br>${'<table><tr><td>'.repeat(20_000)}x`],
    [
      '60,000 rows',
      `<table><tr><td>Name: Ana</td></tr>${'<tr><td>a</td><td>b</td></tr>'.repeat(60_000)}</table>`,
    ],
    ['4 MB without a tag', `Name: Ana<br>${'x '.repeat(2_000_000)}`],
    ['open angle brackets', `Name: Ana<br>${'<'.repeat(500_000)}`],
    ['open quotation marks', `Name: Ana<br>${'<a href="'.repeat(60_000)}`],
    ['unclosed links', `Name: Ana<br>${'<a href="mailto:a@x.example">'.repeat(20_000)}`],
    ['unclosed bold', `Name: Ana<br>${'<b>'.repeat(100_000)}`],
  ])('reads the first line of %s in linear time', async (_, html) => {
    const seconds = await cpuSeconds(() => expect(htmlToLines(html)[0]).toBe('Name: Ana'));
    expect(seconds).toBeLessThan(2);
  });
});
