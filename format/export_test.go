package format

// For the tests of package format_test.
var (
	KindNamed  = kindNamed
	ParseValue = parseValue
)
