/* Zoom, search and what is under the pointer, for the SVG that stallsymd draws. */
(function () {
  'use strict';
  var WIDTH = 1200, CHARACTER = 7.3;
  var svg = document.documentElement;
  var details = document.getElementById('details');
  var matched = document.getElementById('matched');
  var frames = [].map.call(document.querySelectorAll('g.f'), function (g) {
    var rect = g.querySelector('rect');
    return {
      g: g, rect: rect, text: g.querySelector('text'), title: g.querySelector('title').textContent,
      x: +rect.getAttribute('x'), w: +rect.getAttribute('width'), y: +rect.getAttribute('y')
    };
  });
  var said = details.textContent;

  function place(f, x, w) {
    var name = f.title.split('\n')[0], room = Math.floor((w - 4) / CHARACTER);
    f.rect.setAttribute('x', x);
    f.rect.setAttribute('width', w);
    if (!f.text) {
      f.text = document.createElementNS('http://www.w3.org/2000/svg', 'text');
      f.text.setAttribute('y', f.y + 12);
      f.g.appendChild(f.text);
    }
    f.text.setAttribute('x', x + 3);
    var letters = Array.from(name);
    f.text.textContent = room < 3 ? '' :
      letters.length <= room ? name : letters.slice(0, room - 2).join('') + '..';
  }

  function zoom(to) {
    var from = to ? to.x : 0, scale = to ? WIDTH / to.w : 1, epsilon = 1e-3;
    frames.forEach(function (f) {
      var holds = to && f.y < to.y && f.x <= to.x + epsilon && f.x + f.w >= to.x + to.w - epsilon;
      var inside = !to || (f.y >= to.y && f.x >= to.x - epsilon && f.x + f.w <= to.x + to.w + epsilon);
      f.g.setAttribute('display', holds || inside ? 'inline' : 'none');
      f.g.classList.toggle('over', !!holds);
      if (holds) place(f, 0, WIDTH);
      else if (inside) place(f, (f.x - from) * scale, f.w * scale);
    });
    document.getElementById('reset').setAttribute('visibility', to ? 'visible' : 'hidden');
  }

  function search(word) {
    var pattern = null, spans = [], sum = 0, end = -1;
    if (word) {
      try { pattern = new RegExp(word, 'i'); }
      catch (e) { pattern = new RegExp(word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i'); }
    }
    frames.forEach(function (f) {
      var hit = !!pattern && pattern.test(f.title.split('\n')[0]);
      f.g.classList.toggle('hit', hit);
      if (hit) spans.push([f.x, f.x + f.w]);
    });
    /* A hit inside of another one is counted once. */
    spans.sort(function (a, b) { return a[0] - b[0]; });
    spans.forEach(function (s) {
      if (s[1] > end) {
        sum += s[1] - Math.max(s[0], end);
        end = s[1];
      }
    });
    matched.textContent = pattern ? 'matched: ' + (sum / WIDTH * 100).toFixed(2) + ' %' : '';
  }

  function ask() {
    search(window.prompt('Search names (a regular expression; empty: none):', '') || '');
  }

  frames.forEach(function (f) {
    f.g.addEventListener('click', function () { zoom(f.x <= 0 && f.w >= WIDTH ? null : f); });
    f.g.addEventListener('mouseover', function () {
      details.textContent = f.title.split('\n').join('  \u00b7  ');
    });
    f.g.addEventListener('mouseout', function () { details.textContent = said; });
  });
  document.getElementById('reset').addEventListener('click', function () { zoom(null); });
  document.getElementById('search').addEventListener('click', ask);
  window.addEventListener('keydown', function (e) {
    if (e.key === 'Escape') { zoom(null); search(''); }
    if ((e.ctrlKey || e.metaKey) && e.key === 'f') { e.preventDefault(); ask(); }
  });
  svg.classList.add('ready');
})();
