# Reads lines of a pattern, a tab and a text; prints whether it is found, and the least processor time in nanoseconds
# of so many rounds, each of so many seconds.
use strict;
use warnings;
use Time::HiRes qw(clock);

my ($rounds, $least) = @ARGV;
while (my $line = <STDIN>) {
  chomp $line;
  my ($text, $url) = split /\t/, $line, 2;
  my $pattern = qr/$text/;
  my ($best, $found) = (1e18, 0);
  for my $round (1 .. $rounds) {
    my ($start, $spent, $count) = (clock(), 0, 0);
    while ($spent < $least) {
      $found = $url =~ $pattern ? 1 : 0;
      $count++;
      $spent = clock() - $start;
    }
    my $each = 1e9 * $spent / $count;
    $best = $each if $each < $best;
  }
  print "$found $best\n";
}
