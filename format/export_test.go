package format

// For the tests of package format_test.
var KindNamed = kindNamed

// ParseValue reads what Value.String returns.
func ParseValue(s string) (v Value, err error) {
	l := &Lines{rest: s, more: true, open: true}
	v.fields(l)
	if l.close(); l.err == nil {
		l.err = v.check()
	}
	if l.err != nil {
		v = Value{}
	}
	return v, l.err
}
