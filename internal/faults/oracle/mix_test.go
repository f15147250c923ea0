package oracle

// deed is something that a person does, and how often, in a usual world.
type deed struct {
	often int
	do    func(*party)
}

func deeds() []deed {
	return []deed{
		{18, (*party).append},
		{6, (*party).grow},
		{3, (*party).importAll},
		{6, (*party).compact},
		{4, (*party).evict},
		{6, (*party).goOn},
		{4, (*party).forkAndJoin},
		{4, (*party).joinOther},
		{3, (*party).rewind},
		{3, (*party).undo},
		{2, (*party).redo},
		{4, (*party).backAndForth},
		{3, (*party).remove},
		{9, (*party).forget},
		{8, (*party).beside},
		{5, (*party).collect},
		{12, (*party).pull},
		{12, (*party).push},
		{1, (*party).clone},
		{2, (*party).wait},
		{3, (*party).arriving},
		{1, (*party).away},
		{1, (*party).twin},
		{3, (*party).damage},
		{1, (*party).pushOften},
		{2, (*party).storyOfFork},
		{2, (*party).storyOfLeaving},
		{1, (*party).storyOfJoining},
		{3, (*party).storyOfGoingBack},
		{1, (*party).storyOfDamage},
		{4, (*party).storyOfStopping},
	}
}

// mix returns what chooses the deeds of a world. Each world does some things often and others not
// at all: so what takes many of one kind in a row, without another one between, happens as well.
func (w *world) mix() func() func(*party) {
	var list []deed
	sum := 0
	for _, d := range deeds() {
		d.often *= []int{0, 1, 1, 1, 3}[w.rng.IntN(5)]
		list = append(list, d)
		sum += d.often
	}
	for _, d := range []deed{{6, (*party).append}, {5, (*party).pull}, {5, (*party).push}} {
		list = append(list, d)
		sum += d.often
	}
	return func() func(*party) {
		n := w.rng.IntN(sum)
		for _, d := range list {
			if n -= d.often; n < 0 {
				return d.do
			}
		}
		return list[0].do
	}
}
