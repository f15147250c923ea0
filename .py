import re
def keep(p, f):
    s=open(p).read()
    s=re.sub(r'<<<<<<< [^\n]*\n(.*?)=======\n(.*?)>>>>>>> [^\n]*\n', lambda m:f(m.group(1),m.group(2)), s, flags=re.S)
    open(p,'w').write(s)
keep('cmd/ctx/imports_test.go', lambda a,b:a.replace('session/dag session/window','session/dag session/mask session/window'))
keep('cmd/ctx/log.go', lambda a,b:a+b)
def undo(a,b):
    print('A',a,'B',b); return a.rstrip('\n').rstrip(':')+', "mask", "offload", "replace":\n'
keep('session/undo.go', undo)
