p='docs/masking.md'; s=open(p).read()
s=s.replace('echo "masks: $(wc -l < mask)"','echo "masks: $(grep -c . mask)"')
i=s.index('```sh\n'); j=s.index('```\n',i+5)+4
s=s[:j]+'''
It prints:

```text
f06f58ab3d55.0    402 tokens  shown as 169
masks: 1
sent: 19
said: 60
    a.go, line 30: nothing new
    step 50 is done
undid mask (operation 7)
sent: 60
```
'''+s[j:]
open(p,'w').write(s)
p='docs/replacement.md'; s=open(p).read()
s=s.replace('$(wc -l < replacement)','$(grep -c . replacement)')
i=s.index('```sh\n'); j=s.index('```\n',i+5)+4
s=s[:j]+'''
It prints:

```text
[2 messages in other words; `ctx expand 74f0cd5f9cbf` gives the exact ones]
a.go is about time, b.go about money.
    I looked at a.go, which has forty functions, all of them about time.
{"v":1,"ids":[],"replaced":0,"settled":0,"carried":0,"known":1,"lost":[],"unseen":0}
undid replace (operation 5)
refused: 12
undid rewind (operation 7)
replacements: 1
```
'''+s[j:]
open(p,'w').write(s)
