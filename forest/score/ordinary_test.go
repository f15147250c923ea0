package score

import (
	commandline "flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = commandline.Bool("update", false, "write ordinary.txt anew")

const ordinaryWords = `
able about above actually add after again all already also although always am an and another any anybody anyone anything anyway are around as ask at
away back bad be because been before being best better between big bit both but by call came can cannot case cause change check close come complete
could current day did different do does doing done down each either else end enough even ever every everything exactly example fact far few find fine
first fix follow for found from full get getting give go going gone good got great guess had happen hard has have he help her here him his hope how
however idea if in instead into is issue it its just keep kind know last late later least leave left let like line little long look lot made make
many matter may maybe me mean might mine more most much must my name need never new next nice no nothing now number of off often oh ok okay old on
once one only open or order other our out over own part people perhaps place please point possible pretty probably problem put question quite read
ready really reason remove right run said same saw say second see seem send set she should show simple since small so some somebody someone something
soon sorry sort start step still stop such support sure take talk tell than thank thanks that the their them then there these they thing think this
those though three time to today together tomorrow too top tried true try turn two type under understand until up us use used user usual very via wait
want was way we week well went were what when where whether which while who whole why will with without wonder word work would write wrong yes
yesterday yet you your yourself
agent all answer application apply args argument array base block bool boolean branch break bug build byte case catch class clean client code column
command commit config configuration console const content context continue copy create cwd data date debug def default define delete dependency
description diff dir directory doc document edit else empty enable entry env error event exception exec exist exit expect export extend fail failed
false field file filter final find fix flag float folder format func function git give global grep handle head header home host html http https id
implement import include index info init input insert install instance int integer interface internal invalid item job js json key lib library limit
link list load local log loop main make map message method mkdir mode modify module name new nil node none null number object open option output
package param parameter parse pass passed patch path pip port prefix print private process program project property public pull push py python query
range raise read readme record ref release remote remove rename replace request require response result return root row run running save script search
section select self send server service session set setting shell show size source space src start state static status std stderr stdin stdout step
str string struct success successfully sudo summary support switch sync system table tag task temp test tests text throw time title tmp todo token
tool total true try txt type undefined unit update upgrade url usage use user usr util val valid value var variable verify version view void warn
warning web work world write yaml yml
read_file read_many_files write_file run_shell_command search_file_content list_directory glob replace edit bash shell google_web_search web_fetch
str_replace_editor view grep task todo_write function_call tool_call user model assistant
die der das und ist nicht ein eine ich wir es zu mit auf für von den dem im el la los las de que y en un una es no por con le les des et un une est
pas que pour dans sur il`

// The table of ordinary terms is that of ordinaryWords. `go test ./forest/score -run TestOrdinary
// -update` writes it anew.
func TestOrdinary(t *testing.T) {
	var want []uint32
	for _, c := range allOf(ordinaryWords) {
		want = append(want, c.key&^artifact)
	}
	slices.Sort(want)
	want = slices.Compact(want)
	var b strings.Builder
	for _, key := range want {
		fmt.Fprintf(&b, "%08x\n", key)
	}
	table := b.String()
	if *update {
		if err := os.WriteFile("ordinary.txt", []byte(table), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if ordinaryText != table {
		t.Error(
			"the table is not that of the text; `go test ./forest/score -run TestOrdinary " +
				"-update` writes it")
	}
}
