package search

import "github.com/gemini-ctx/ctx/forest/terms"

var kindWeight = [...]float64{terms.Word: 1, terms.Name: 1.5, terms.Number: 1.5, terms.Part: 0.6}

var (
	askWeight    = 0.2
	nameWeight   = 0.4
	k1           = 1.5
	lengthPart   = 0.3
	usualLength  = 25.0
	nearWeight   = 1.0
	beforeWeight = 1.0
	nearDecay    = 0.4
	wideWeight   = 0.2
	wideWindow   = 12
	subtract     = 0.2
	wantBoost    = 0.2
	pairWeight   = 0.3
	authorBoost  = 0.7
	askedPenalty = 0.4
	shortLen     = 18.0
	shortPen     = 0.8
)
