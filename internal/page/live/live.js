
(function(){'use strict';
var d=document,state=d.body.getAttribute('data-live'),key='ctx '+location.pathname,out=d.getElementById('live'),from=null,due=false;
var all=function(s){return Array.prototype.slice.call(d.querySelectorAll(s))};
// What a fold is known by, after the page is read again.
function fold(e){var a=e.classList.contains('S')&&e.querySelector('article');return e.id||e.getAttribute('data-n')||a&&a.id||''}
function text(e){return e?e.value:''}
function keep(){
  // What a fold or a turn out of sight hides has a place, too, which is not where it seems.
  function seen(e){return !e.closest('details:not([open])')&&e.getBoundingClientRect().bottom>0}
  var turn=all('main .T').filter(seen)[0],top=turn&&all('article,.ev').filter(function(e){return turn.contains(e)&&seen(e)})[0];
  var here=d.querySelector('.here'),high=d.documentElement;
  return {id:top?top.id:'',off:top?top.getBoundingClientRect().top:scrollY,end:innerHeight+scrollY>high.scrollHeight-40&&scrollY>0,
    here:here?here.id:'',q:text(d.getElementById('q')),dark:high.classList.contains('dark'),light:high.classList.contains('light'),
    folds:all('details').filter(fold).map(function(e){return [fold(e),e.open]})}}
function put(k){
  var was={};k.folds.forEach(function(f){was[f[0]]=f[1]});
  all('details').forEach(function(e){var f=fold(e);if(f&&f in was)e.open=was[f]});
  ['dark','light'].forEach(function(c){d.documentElement.classList.toggle(c,k[c])});
  var q=d.getElementById('q'),here=k.here&&d.getElementById(k.here);if(here)here.classList.add('here');
  if(q&&k.q){q.value=k.q;q.oninput()}
  // What is near is laid out only when it comes near, so heights are known after some frames.
  var e=k.id&&d.getElementById(k.id),still=0,frames=0,stop=false;
  function off(){return k.end?innerHeight+scrollY-d.documentElement.scrollHeight:e?e.getBoundingClientRect().top-k.off:k.off-scrollY}
  function place(){if(stop)return;var by=off();if(k.end)by=-by;
    still=Math.abs(by)<1?still+1:0;if(!still)scrollBy(0,by);if(still<5&&frames++<60)requestAnimationFrame(place)}
  ['wheel','touchstart','keydown','mousedown'].forEach(function(t){addEventListener(t,function(){stop=true},{once:true,passive:true})});
  if('scrollRestoration' in history)history.scrollRestoration='manual';
  place()}
try{var kept=sessionStorage.getItem(key);sessionStorage.removeItem(key);if(kept)put(JSON.parse(kept))}catch(x){}
function say(s){out.textContent=s;out.className=s==='live'?'on':''}
function busy(){var s=getSelection();return s&&!s.isCollapsed||d.activeElement===d.getElementById('q')}
function again(){if(busy()){say('new messages');setTimeout(again,500);return}
  try{sessionStorage.setItem(key,JSON.stringify(keep()))}catch(x){}location.reload()}
function listen(){if(from||due||d.hidden)return;
  from=new EventSource('events?page='+encodeURIComponent(location.pathname.split('/').pop())+'&state='+state);
  from.onopen=function(){say('live')};
  from.onerror=function(){say('not connected')};
  from.addEventListener('changed',function(){due=true;from.close();again()})}
d.addEventListener('visibilitychange',function(){if(d.hidden&&from){from.close();from=null}listen()});
listen();
})();
