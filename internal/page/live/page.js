'use strict';(function(){
var d=document,root=d.documentElement,$=function(i){return d.getElementById(i)};
var all=function(s,e){return Array.prototype.slice.call((e||d).querySelectorAll(s))};
var tools=d.querySelector('.tools');if(tools)tools.hidden=false;
// Light and dark.
var theme=$('theme'),dark=function(){return root.classList.contains('dark')||!root.classList.contains('light')&&matchMedia('(prefers-color-scheme:dark)').matches};
function setTheme(on){root.classList.toggle('dark',on);root.classList.toggle('light',!on);theme.textContent=on?'Light':'Dark'}
if(theme){theme.textContent=dark()?'Light':'Dark';theme.onclick=function(){setTheme(!dark())}}
if(!d.body.classList.contains('session'))return;
if(matchMedia('(max-width:52rem)').matches&&$('forest'))$('forest').open=false;
// The page works while it loads. What needs more of it than is there is done again at the end.
var loading=function(){return d.readyState==='loading'},after=[];function later(f){if(loading())after.push(f);return loading()}
d.addEventListener('DOMContentLoaded',function(){after.forEach(function(f){f()})});
// Messages.
var msgs=null;function list(){if(loading())return all('main .T>article,main .S>article');
  return msgs||(msgs=all('main .T>article,main .S>article'))}
function unfold(e){for(var p=e.parentElement;p;p=p.parentElement)if(p.tagName==='DETAILS')p.open=true}
var first=+d.body.getAttribute('data-first')||1;function num(e){var i=list().indexOf(e);return i<0?0:i+first}
var here=null;
function go(e,quiet){if(!e)return;unfold(e);if(here)here.classList.remove('here');here=e;e.classList.add('here');e.scrollIntoView({block:'start'});
  mark(num(e));if(!quiet)try{history.replaceState(null,'','#'+e.id)}catch(x){}}
function find(h){h=h.toLowerCase().replace(/[^0-9a-zt]/g,'');if(!h)return null;var e=$(h.slice(0,12));if(e)return e;
  return h.length>3&&/^[0-9a-f]+$/.test(h)?d.querySelector('article[id^="'+h.slice(0,12)+'"]'):null}
function hash(){var e=find(location.hash.slice(1));if(e)go(e,true);else later(hash)}
addEventListener('hashchange',hash);
// The time line.
var svg=d.querySelector('.line svg'),saw=$('saw'),total=saw?+saw.max:0;
function mark(n){if($('at')&&total&&n)$('at').setAttribute('x',n/total*1000-1)}
function nth(n){return list()[Math.max(0,n-first)]}
function goto(n){var e=nth(n);if(e)go(e);else if(!later(function(){goto(n)}))go(list().pop())}
if(svg)svg.addEventListener('click',function(ev){var r=svg.getBoundingClientRect();var n=Math.max(1,Math.ceil((ev.clientX-r.left)/r.width*total));
  goto(n)});
// What the model saw.
if(saw){var seen=JSON.parse($('seen').textContent),last=total;$('sawbox').hidden=false;
  saw.oninput=function(){later(saw.oninput);var n=+saw.value,through=0,by=null;seen.forEach(function(s){if(s[0]<=n){through=s[1];by=s}});
    mark(n);$('sawn').textContent=n===total&&last===total?'':n+': '+(n-through)+' word for word, '+through+' in summaries'+(by&&by[2]?' (forest '+by[2]+', operation '+by[3]+')':'');
    list().forEach(function(m,i){var q=i+first;m.classList.toggle('notyet',q>n);m.classList.toggle('insum',q<=through&&n<total)});last=n}}
// Sources of a sentence, in place, with the rest of the id and the digest.
function proof(m){return Array.prototype.map.call(atob((m.getAttribute('data-c')||'').replace(/-/g,'+').replace(/_/g,'/')),
  function(c){return(256+c.charCodeAt(0)).toString(16).slice(1)}).join('')}
function source(m){var box=d.createElement('div');box.className='src';box.tabIndex=0;var p=proof(m),id=m.id+p.slice(0,52),c=d.createElement('code');
  c.textContent='id '+id;box.appendChild(c);if(p){c=d.createElement('code');c.textContent='sha256 '+p.slice(52);box.appendChild(c)}
  var h=m.querySelector('h3');if(h){h=h.cloneNode(true);box.appendChild(h)}
  var w=m.querySelector('.w,.gap');if(w)box.appendChild(w.cloneNode(true));box.setAttribute('data-of',id);return box}
function members(k){var out=[],from=0;Array.prototype.forEach.call(k.querySelector('.mem').childNodes,function(a){
    if(a.nodeType===3){if(a.data.indexOf('\u2013')<0)from=0;return}
    var n=+a.textContent;for(var i=from?from+1:n;i<=n;i++){var m=nth(i);if(m&&i>=first)out.push(m.id)}from=n});return out}
function sentence(x){var p=x.parentElement.tagName==='P'?x.parentElement:x;
  if(x.classList.toggle('on')){var ids=x.hash?[x.hash.slice(1)]:members(x.closest('.k'));
    var at=p,done=false;ids.forEach(function(i){var m=$(i);if(m){var s=source(m);at.after(s);at=s;done=true}});
    if(!done&&later(function(){sentence(x)}))x.classList.remove('on');return}
  while(p.nextElementSibling&&p.nextElementSibling.className==='src')p.nextElementSibling.remove()}
d.addEventListener('click',function(ev){var x=ev.target.closest&&ev.target.closest('.sum a,.x');
  if(x){if(!(x.getAttribute('href')||'#').startsWith('#'))return;ev.preventDefault();sentence(x);return}
  var h=ev.target.closest&&ev.target.closest('main article>h3');if(h){go(h.parentElement);return}
  var a=ev.target.closest&&ev.target.closest('a[href^="#"]');if(a){var e=find(a.hash.slice(1));if(e){ev.preventDefault();go(e)}}});
// Search and filters.
var q=$('q'),timer=0;
function look(){if(q.value)later(look);var words=[],want=[];(q.value.match(/(?:\w+:)?"[^"]*"?|\S+/g)||[]).forEach(function(t){var m=/^(role|tool|file|error):"?([^"]*)"?$/.exec(t);
    if(m)want.push([m[1],m[2].toLowerCase()]);else words.push(t.replace(/"/g,'').toLowerCase())});
  words=words.filter(Boolean);var on=words.length+want.length>0,n=0;
  all('main .T').forEach(function(T){var hit=0;all('article',T).forEach(function(m){var ok=true;
      if(on){ok=want.every(function(w){
          if(w[0]==='role')return m.classList.contains(w[1]);
          if(w[0]==='error')return m.classList.contains('bad');
          return all(w[0]==='tool'?'[data-t]':'[data-f]',m).some(function(e){return e.getAttribute(w[0]==='tool'?'data-t':'data-f').toLowerCase().indexOf(w[1])>=0})});
        if(ok&&words.length){var t=m.textContent.toLowerCase();ok=words.every(function(w){return t.indexOf(w)>=0})}}
      m.classList.toggle('hid',on&&!ok);if(on&&ok){hit++}});
    n+=hit;T.classList.toggle('hid',on&&!hit);if(on)all('.S',T).forEach(function(s){s.open=!!s.querySelector('article:not(.hid)')})});
  $('hits').textContent=on?n+(n===1?' hit':' hits')+(loading()?' so far':''):''}
if(q)q.oninput=function(){clearTimeout(timer);timer=setTimeout(look,120)};
// Folds.
var opened=false;function foldAll(on){opened=on;if(on)later(function(){if(opened)foldAll(true)});all('main .S').forEach(function(s){s.open=on});$('openall').textContent=on?'Fold all':'Unfold all'}
if($('openall'))$('openall').onclick=function(){foldAll(!opened)};
addEventListener('beforeprint',function(){foldAll(true)});
// Keys.
d.addEventListener('keydown',function(ev){if(ev.ctrlKey||ev.metaKey||ev.altKey)return;var in_=/^(INPUT|TEXTAREA)$/.test(ev.target.tagName);
  if(in_){if(ev.key==='Escape'){ev.target.blur();if(ev.target===q){q.value='';look()}}return}
  var l,i,s;switch(ev.key){
  case 'j':case 'k':l=list();i=l.indexOf(here);s=i<0||ev.key==='j'?1:-1;
    do i+=s;while(l[i]&&(l[i].classList.contains('hid')||l[i].closest('details:not([open]),.T.hid')));
    go(l[i]);break;
  case 'e':if(here){s=here.closest('.T').querySelector('.S');if(s)s.open=!s.open}else foldAll(!opened);break;
  case 'Enter':if(ev.target.classList.contains('x')){sentence(ev.target);break}return;
  case '/':q.focus();break;
  case '?':if($('keys'))$('keys').scrollIntoView();break;
  default:return}ev.preventDefault()});
hash();
})();
