import re
def keep(p, f):
    s=open(p).read()
    s=re.sub(r'<<<<<<< [^\n]*\n(.*?)=======\n(.*?)>>>>>>> [^\n]*\n', lambda m:f(m.group(1),m.group(2)), s, flags=re.S)
    open(p,'w').write(s)
keep('README.md', lambda a,b:a.replace('[loops](docs/loops.md)','[masking](docs/masking.md) · [replacement](docs/replacement.md) · [loops](docs/loops.md)'))
keep('docs/architecture.md', lambda a,b:b+a)
keep('docs/cli/README.md', lambda a,b:a+b)
