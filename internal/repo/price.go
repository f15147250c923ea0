package repo

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Price is what a million tokens of a model cost, in US dollars.
type Price struct {
	Model      string // the beginning of its name, without a provider in front
	Input      float64
	Output     float64
	CacheRead  float64
	CacheWrite float64
	CacheHour  float64
}

// Of returns the price of some tokens.
func (p Price) Of(input, output, read, write, hour uint64) float64 {
	const million = 1e6
	return (p.Input*float64(input) + p.Output*float64(output) + p.CacheRead*float64(read) +
		p.CacheWrite*float64(write) + p.CacheHour*float64(hour)) / million
}

// ParsePrice reads a price from a model and two to five numbers: input, output, and of a cache
// read, written, and written for an hour. A number that is not there is that of the input.
func ParsePrice(text string) (Price, error) {
	fields := strings.Fields(text)
	if len(fields) < 3 || len(fields) > 6 {
		return Price{}, errors.New("not a model and two to five numbers: " +
			strconv.Quote(text) + ": write it as \"gpt-5 1.25 10 0.125\"")
	}
	p := Price{Model: fields[0]}
	at := [...]*float64{&p.Input, &p.Output, &p.CacheRead, &p.CacheWrite, &p.CacheHour}
	for i, to := range at {
		if i+1 >= len(fields) {
			*to = p.Input
			continue
		}
		n, err := strconv.ParseFloat(fields[i+1], 64)
		if err != nil || !(n >= 0 && n < maxPrice) {
			return Price{}, fmt.Errorf("not a price: %.40q", fields[i+1])
		}
		*to = n
	}
	return p, nil
}

const (
	maxPrice  = 1e6
	maxPrices = 1000
)

// putPrices reads stats.prices, a JSON array of prices.
func (c *Config) putPrices(text string) (string, error) {
	var list []string
	if json.Unmarshal([]byte(text), &list) != nil {
		return "", errors.New("not an array of strings")
	}
	if len(list) > maxPrices {
		return "", fmt.Errorf("more than %d prices", maxPrices)
	}
	c.Stats.Prices = nil
	for _, one := range list {
		p, err := ParsePrice(one)
		if err != nil {
			return "", err
		}
		c.Stats.Prices = append(c.Stats.Prices, p)
	}
	if len(list) == 0 {
		return "[]", nil
	}
	return jsonList(list), nil
}
