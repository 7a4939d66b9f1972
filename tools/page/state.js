// What is shown, kept in the URL, so that a link shows it again.

const kDefaults = {view: 'tables', q: '', op: '', key: '', at: '', kinds: '', keys: 'used', run: '0', call: '', storage: '', from: '', to: ''};

const state = {...kDefaults};
const listeners = [];

function readUrl() {
  Object.assign(state, kDefaults);
  for (const [name, value] of new URLSearchParams(location.hash.slice(1)))
    if (name in kDefaults) state[name] = value;
  if (!['tables', 'calls', 'memory'].includes(state.view)) state.view = kDefaults.view;
}

function urlOf(values) {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    if (value !== kDefaults[name]) parts.set(name, value);
  return '#' + parts;
}

// Changes what is shown. What one would go back from is a step of the history; zooming is not.
function update(changes, {step = false} = {}) {
  for (const [name, value] of Object.entries(changes)) changes[name] = String(value);
  const before = urlOf(state);
  Object.assign(state, changes);
  const after = urlOf(state);
  if (after !== before) {
    try {
      history[step ? 'pushState' : 'replaceState'](null, '', after);
    } catch (error) {  // some browsers refuse many steps in a short time
    }
  }
  for (const listener of listeners) listener(changes);
}

function onUpdate(listener) {
  listeners.push(listener);
}

addEventListener('popstate', () => {
  readUrl();
  for (const listener of listeners) listener(kDefaults);
});
