import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;

/** Reads lines of a pattern, a tab and a text; prints the least processor time, in nanoseconds, of looking for it. */
public class Timed {
  private static final int ROUNDS = 5;
  private static final long LEAST = 2_000_000;

  public static void main(String[] arguments) throws Exception {
    ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    Map<String, Pattern> patterns = new HashMap<>();
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] parts = line.split("\t", 2);
      Pattern pattern = patterns.computeIfAbsent(parts[0], Pattern::compile);
      double best = Double.MAX_VALUE;
      boolean isFound = false;
      for (int round = 0; round < ROUNDS; round++) {
        long start = clock.getCurrentThreadCpuTime();
        long spent = 0;
        int count = 0;
        while (spent < LEAST) {
          isFound = pattern.matcher(parts[1]).find();
          count++;
          spent = clock.getCurrentThreadCpuTime() - start;
        }
        best = Math.min(best, (double) spent / count);
      }
      System.out.println((isFound ? 1 : 0) + " " + best);
    }
  }
}
