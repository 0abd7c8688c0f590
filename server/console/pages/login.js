"use strict";
// Moves the secret of a login link from the address into the form, so that it
// stays in no history. Nothing is sent before the button is pressed.
function take() {
  const code = document.getElementById("code");
  if (!code || location.hash.length < 2) return;
  code.value = location.hash.slice(1);
  history.replaceState(null, "", location.pathname + location.search);
}
addEventListener("hashchange", take);
take();
