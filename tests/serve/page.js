// SPDX-License-Identifier: BSD-3-Clause
// Pictures of the page of ioscribe serve in Chromium, light and dark, to be looked at by hand. Fails where the page
// complains or asks another server. Needs playwright-core (npm install playwright-core) and Debian's chromium.
//   node page.js 'http://127.0.0.1:8750/page#token=...' [JOB]        makes light.png and dark.png
"use strict";
const {chromium} = require('playwright-core');

function fail(what) {
  console.log(what);
  process.exitCode = 1;
}

(async () => {
  const b = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox','--disable-gpu','--disable-quic','--no-first-run','--disable-background-networking','--disable-component-update','--disable-sync']});
  for (const mode of ['light','dark']) {
    const c = await b.newContext({colorScheme: mode, viewport: {width: 1280, height: 1500}});
    const p = await c.newPage();
    const other = [];
    p.on('console', m => fail(mode + ': ' + m.text()));
    p.on('pageerror', e => fail(mode + ': ' + e.message));
    p.on('request', r => { if (!r.url().startsWith('http://127.0.0.1:') && !r.url().startsWith('data:')) other.push(r.url()); });
    await p.goto(process.argv[2]);
    await p.waitForFunction(() => document.getElementById('state').textContent.startsWith('as of'), {timeout: 30000});
    if (process.argv[3]) await p.selectOption('#job', process.argv[3]);
    await p.waitForTimeout(3500);
    await p.screenshot({path: `${mode}.png`});
    if (other.length)
      fail(`${mode}: asks ${other[0]}`);
  }
  await b.close();
})();
