/** The look of a report, in light and in dark. Series colours keep their order in every chart. */
export const STYLE: string = `
:root { --bg: #fff; --fg: #1b1f24; --soft: #59636e; --line: #d9dee4; --card: #f6f8fa;
  --s0: #0b6bcb; --s1: #d1570a; --s2: #1a7f4b; --s3: #8a3fd1; --s4: #8b949e; --s5: #b5305f;
  --band: #f5c54233; --good: #1a7f4b; --fair: #7a5c00; --bad: #b42318; }
@media (prefers-color-scheme: dark) { :root { --bg: #0f1318; --fg: #e6eaf0; --soft: #9aa5b1;
  --line: #2c343d; --card: #171d24; --s0: #5aa9f7; --s1: #f5935a; --s2: #4cc38a; --s3: #c08bf5;
  --s4: #7d8894; --s5: #f07aa5; --band: #f5c54226; --good: #4cc38a; --fair: #e3b341; --bad: #ff7b72; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--fg);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 24px 20px 64px; }
h1 { margin: 0 0 4px; font-size: 28px; }
h2 { margin: 48px 0 4px; font-size: 20px; }
p { margin: 0 0 12px; color: var(--soft); overflow-wrap: anywhere; }
code { font: 13px ui-monospace, Menlo, Consolas, monospace; }
figure { margin: 16px 0; padding: 16px; background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; }
figcaption { font-weight: 600; margin-bottom: 8px; }
svg { display: block; width: 100%; height: auto; }
${[0, 1, 2, 3, 4, 5].map((i) => `.k${i} { background: var(--s${i}); }`).join('\n')}
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 0 0 8px; padding: 0; list-style: none;
  color: var(--soft); font-size: 13px; }
.legend i { display: inline-block; width: 11px; height: 11px; margin-right: 6px; border-radius: 50%; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { padding: 6px 10px; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
.goals td:first-child { min-width: 300px; }
td.number { white-space: nowrap; font-variant-numeric: tabular-nums; }
summary { cursor: pointer; color: var(--s0); }
.verdict { white-space: nowrap; font-weight: 600; }
.good { color: var(--good); } .fair { color: var(--fair); } .bad { color: var(--bad); }
.none { color: var(--soft); }
`;
